import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Call;
import org.apache.axis.client.Service;
import org.apache.axis.message.SOAPBodyElement;

/** A client on Axis 1.4, as Genesis II had it: prints a line for each thing that works, and fails at the first that does not. */
public final class AxisClient {
    private static Call call(String url, String operation) throws Exception {
        Call call = (Call) new Service().createCall();
        call.setTargetEndpointAddress(new URL(url));
        call.setUseSOAPAction(true);
        call.setSOAPActionURI(Part.RANDOM + "/" + operation);
        return call;
    }

    private static byte[] read(String url, long offset, int size) throws Exception {
        Call call = call(url, "read");
        SOAPBodyElement body = Part.element("read", "mtom", "start-offset", "" + offset, "bytes-per-block", "" + size, "num-blocks", "1", "stride", "0");
        call.invoke(new Object[] {body});
        return Part.only(call.getResponseMessage());
    }

    private static void expect(String name, boolean right) {
        if (!right) {
            throw new IllegalStateException(name);
        }
        System.out.println("ok " + name);
    }

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        byte[] content = Files.readAllBytes(Paths.get(arguments[1]));
        expect("read", Arrays.equals(read(url, 10, 1000), Arrays.copyOfRange(content, 10, 1010)));
        expect("large read", Arrays.equals(read(url, 0, content.length), content));
        int end = content.length;
        expect("short read", Arrays.equals(read(url, end - 5, 100), Arrays.copyOfRange(content, end - 5, end)));
        Call write = call(url + "-axis", "write");
        write.setProperty(Call.ATTACHMENT_ENCAPSULATION_FORMAT, Call.ATTACHMENT_ENCAPSULATION_FORMAT_MTOM);
        write.addAttachmentPart(Part.of(content));
        write.invoke(new Object[] {Part.element("write", "mtom", "start-offset", "0", "bytes-per-block", "" + end, "stride", "0")});
        expect("bare-part write", Arrays.equals(read(url + "-axis", 0, end), content));
        try {
            read(url + "-none", 0, 1);
            expect("fault", false);
        } catch (AxisFault fault) {
            expect("fault", fault.getFaultDetails().length > 0 && fault.getFaultDetails()[0].getLocalName().equals("ResourceUnknownFault"));
        }
        System.out.println("all ok");
        System.exit(0);
    }
}
