import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.xml.bind.annotation.XmlSeeAlso;
import jakarta.xml.ws.RequestWrapper;
import jakarta.xml.ws.ResponseWrapper;

/** The random-access port type. */
@WebService(name = "RandomByteIOPortType", targetNamespace = Names.RANDOM)
@XmlSeeAlso({Data.class})
public interface RandomByteIO {
    @WebMethod(action = Names.RANDOM + "/read")
    @WebResult(name = "transfer-information", targetNamespace = Names.RANDOM)
    @RequestWrapper(localName = "read", targetNamespace = Names.RANDOM, className = "wrap.Read")
    @ResponseWrapper(localName = "readResponse", targetNamespace = Names.RANDOM, className = "wrap.ReadResponse")
    Transfer read(
            @WebParam(name = "start-offset", targetNamespace = Names.RANDOM) long start,
            @WebParam(name = "bytes-per-block", targetNamespace = Names.RANDOM) int block,
            @WebParam(name = "num-blocks", targetNamespace = Names.RANDOM) int blocks,
            @WebParam(name = "stride", targetNamespace = Names.RANDOM) long stride,
            @WebParam(name = "transfer-information", targetNamespace = Names.RANDOM) Transfer transfer);

    @WebMethod(action = Names.RANDOM + "/write")
    @WebResult(name = "transfer-information", targetNamespace = Names.RANDOM)
    @RequestWrapper(localName = "write", targetNamespace = Names.RANDOM, className = "wrap.Write")
    @ResponseWrapper(localName = "writeResponse", targetNamespace = Names.RANDOM, className = "wrap.WriteResponse")
    Transfer write(
            @WebParam(name = "start-offset", targetNamespace = Names.RANDOM) long start,
            @WebParam(name = "bytes-per-block", targetNamespace = Names.RANDOM) int block,
            @WebParam(name = "stride", targetNamespace = Names.RANDOM) long stride,
            @WebParam(name = "transfer-information", targetNamespace = Names.RANDOM) Transfer transfer);

    @WebMethod(action = Names.RANDOM + "/append")
    @WebResult(name = "transfer-information", targetNamespace = Names.RANDOM)
    @RequestWrapper(localName = "append", targetNamespace = Names.RANDOM, className = "wrap.Append")
    @ResponseWrapper(localName = "appendResponse", targetNamespace = Names.RANDOM, className = "wrap.AppendResponse")
    Transfer append(@WebParam(name = "transfer-information", targetNamespace = Names.RANDOM) Transfer transfer);

    @WebMethod(action = Names.RANDOM + "/truncAppend")
    @WebResult(name = "transfer-information", targetNamespace = Names.RANDOM)
    @RequestWrapper(localName = "truncAppend", targetNamespace = Names.RANDOM, className = "wrap.TruncAppend")
    @ResponseWrapper(localName = "truncAppendResponse", targetNamespace = Names.RANDOM, className = "wrap.TruncAppendResponse")
    Transfer truncAppend(
            @WebParam(name = "offset", targetNamespace = Names.RANDOM) long offset,
            @WebParam(name = "transfer-information", targetNamespace = Names.RANDOM) Transfer transfer);
}
