import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.xml.bind.annotation.XmlSeeAlso;
import jakarta.xml.ws.RequestWrapper;
import jakarta.xml.ws.ResponseWrapper;

/** The streamable-access port type. */
@WebService(name = "StreamableByteIOPortType", targetNamespace = Names.STREAM)
@XmlSeeAlso({Data.class})
public interface StreamableByteIO {
    @WebMethod(action = Names.STREAM + "/seekRead")
    @WebResult(name = "transfer-information", targetNamespace = Names.STREAM)
    @RequestWrapper(localName = "seekRead", targetNamespace = Names.STREAM, className = "wrap.SeekRead")
    @ResponseWrapper(localName = "seekReadResponse", targetNamespace = Names.STREAM, className = "wrap.SeekReadResponse")
    Transfer seekRead(
            @WebParam(name = "offset", targetNamespace = Names.STREAM) long offset,
            @WebParam(name = "seek-origin", targetNamespace = Names.STREAM) String origin,
            @WebParam(name = "num-bytes", targetNamespace = Names.STREAM) int bytes,
            @WebParam(name = "transfer-information", targetNamespace = Names.STREAM) Transfer transfer);

    @WebMethod(action = Names.STREAM + "/seekWrite")
    @WebResult(name = "transfer-information", targetNamespace = Names.STREAM)
    @RequestWrapper(localName = "seekWrite", targetNamespace = Names.STREAM, className = "wrap.SeekWrite")
    @ResponseWrapper(localName = "seekWriteResponse", targetNamespace = Names.STREAM, className = "wrap.SeekWriteResponse")
    Transfer seekWrite(
            @WebParam(name = "offset", targetNamespace = Names.STREAM) long offset,
            @WebParam(name = "seek-origin", targetNamespace = Names.STREAM) String origin,
            @WebParam(name = "transfer-information", targetNamespace = Names.STREAM) Transfer transfer);
}
